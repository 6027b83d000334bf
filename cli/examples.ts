/** What `addHelpText` takes, so that every --help ends with something to copy. */
export function examples(...lines: string[]): ['after', string] {
  return [
    'after',
    `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ npx attestry ${line}`).join('\n')}`,
  ]
}
