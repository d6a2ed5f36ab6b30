import"./chunk.AIUJWZT6.js";
