import { defineConfig } from "vite";

// The bundle goes where the server looks for it, and into the wheel. Nothing is inlined: the server's CSP forbids it.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/recollect/interfaces/http/panel",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // light-dark()
    reportCompressedSize: true,
  },
});
