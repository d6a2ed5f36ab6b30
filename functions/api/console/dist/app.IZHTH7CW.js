import"./chunk.NZNFSZVH.js";
