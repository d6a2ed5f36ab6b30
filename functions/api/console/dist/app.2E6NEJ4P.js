import"./chunk.F7O4PN5D.js";
