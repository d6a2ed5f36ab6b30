import"./chunk.OB4UFYRP.js";
