import"./chunk.QVRALNGG.js";
