/** Options with which a process of the project loads its modules as fast as the test that starts it; see scripts/modules/resolve-modules.mjs. */
export const nodeOptions: string[] = process.execArgv.filter((option) =>
  option.includes('/scripts/modules/resolve-modules.mjs?'),
)
