"""The cockpit: pages that are rendered here, and can be read and decided on without JavaScript."""
