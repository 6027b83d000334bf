/** Returns the texts that the server has embedded in the page, in its language. */
export function readPageTexts(): Record<string, string> {
  return JSON.parse(document.getElementById('texts')!.textContent!)
}
