import"./chunk.JVLQ24XI.js";
