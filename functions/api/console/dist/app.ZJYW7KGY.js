import"./chunk.63ICKTJB.js";
