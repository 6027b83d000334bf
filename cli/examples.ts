/** Returns the arguments of `addHelpText` that append example commands to the help. */
export function examples(...lines: string[]): ['after', string] {
  return [
    'after',
    `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ npx attestry ${line}`).join('\n')}`,
  ]
}
