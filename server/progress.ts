/** Prints a message for the person who starts the server, when a slow part of the start begins. */
export function printProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`  ${text}\n`)
  else console.error(text)
}
