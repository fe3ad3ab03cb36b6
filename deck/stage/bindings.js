/** The keys of the talk's own tools: binds them to reveal, passes them to the speaker view, and lists them. */

/**
 * @param {{deck: object, echo: ReturnType<typeof import("./echo.js").Echo>}} given
 * @returns {{add: (keys: object[], options?: {echoed?: boolean}) => void, list: () => object[]}}
 *   a key is `{code, key, description, run}`; echoed: it also works in the talk's other windows
 */
export function Bindings({ deck, echo }) {
  const bound = new Map();
  const echoed = new Set();
  echo.listen(({ code }) => {
    if (echoed.has(code)) bound.get(code).run();
  });

  return {
    add(keys, { echoed: isEchoed = false } = {}) {
      for (const key of keys) {
        bound.set(key.code, key);
        if (isEchoed) echoed.add(key.code);
        deck.addKeyBinding({ keyCode: key.code, key: key.key, description: key.description }, () => {
          key.run();
          if (isEchoed) echo.tell({ code: key.code });
        });
      }
    },
    list: () => [...bound.values()],
  };
}
