/** The keys of the talk's own tools: binds them to reveal, passes them to the speaker view, and lists them. */

import { echoKeys } from "./echo.js";

/**
 * @param {{deck: object, mode: {receiver: boolean}}} given
 * @returns {{add: (keys: object[], options?: {echoed?: boolean}) => void, list: () => object[]}}
 *   a key is `{code, key, description, run}`; echoed: it also works in the talk's other windows
 */
export function Bindings({ deck, mode }) {
  const bound = new Map();
  const echoed = new Set();
  let echo = null;

  function press(code) {
    if (echoed.has(code)) bound.get(code).run();
  }

  return {
    add(keys, { echoed: isEchoed = false } = {}) {
      for (const key of keys) {
        bound.set(key.code, key);
        if (isEchoed) echoed.add(key.code);
        deck.addKeyBinding({ keyCode: key.code, key: key.key, description: key.description }, () => {
          key.run();
          if (isEchoed) echo?.tell(key.code);
        });
      }
      if (echoed.size && echo === null) echo = echoKeys(mode, press);
    },
    list: () => [...bound.values()],
  };
}
