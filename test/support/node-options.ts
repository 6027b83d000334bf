/** Options with which a process of the project loads its modules as fast as the test that starts it; see test/runner/resolve-modules.mjs. */
export const nodeOptions: string[] = process.execArgv.filter((option) =>
  option.includes('/test/runner/resolve-modules.mjs?'),
)
