import"./chunk.DENHR3EA.js";
