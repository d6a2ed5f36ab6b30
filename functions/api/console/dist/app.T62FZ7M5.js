import"./chunk.3A6O65KR.js";
