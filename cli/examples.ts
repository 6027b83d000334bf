/** The command to show in examples: the package @attestry/cli is installed on the PATH; in the checkout, npm finds the program. */
export const programName = /\battestry(\.js)?$/.test(process.argv[1] ?? '') ? 'attestry' : 'npx attestry'

/** Returns the arguments of `addHelpText` that append example commands to the help. */
export function examples(...lines: string[]): ['after', string] {
  return [
    'after',
    `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${programName} ${line}`).join('\n')}`,
  ]
}
