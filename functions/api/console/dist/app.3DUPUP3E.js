import"./chunk.MHKASJ7A.js";
