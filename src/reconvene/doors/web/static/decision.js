import "./cockpit.js";
