import"./chunk.QPYJTBV4.js";
