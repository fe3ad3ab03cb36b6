import js from "@eslint/js";
import globals from "globals";

export default [
  {
    ignores: [
      "**/node_modules/",
      "**/dist/",
      ".venv/",
      ".cache/",
      ".snakemake/",
      ".replay/",
      "benchmarks/",
      "test-results/",
    ],
  },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": "error",
      "no-implicit-globals": "error",
      "no-throw-literal": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-unused-expressions": "error",
      "object-shorthand": "error",
      "require-await": "error",
    },
  },
  {
    files: ["scripts/**", "tests/**", "plugins/*/test/**", "plugins/*/scripts/**"],
    languageOptions: { globals: globals.node },
  },
  {
    // Tests of the deck hand functions to a browser.
    files: [
      "deck/**",
      "plugins/*/src/**",
      "plugins/*/test/**",
      "plugins/*/demo/**",
      "tests/deck/**",
      "scripts/deck/perf/plain/**",
    ],
    languageOptions: { globals: globals.browser },
  },
  {
    // Read by whatever Node there is, in order to say that it is too old.
    files: ["scripts/npm/node-version.cjs"],
    languageOptions: { ecmaVersion: 5, sourceType: "commonjs", globals: globals.node },
    rules: {
      "no-var": "off",
      "prefer-const": "off",
      "object-shorthand": "off",
      "no-implicit-globals": "off",
    },
  },
];
