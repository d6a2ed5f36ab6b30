import"./chunk.FREAOYBW.js";
