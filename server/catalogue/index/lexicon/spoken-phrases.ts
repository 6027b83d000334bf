/** How people say in plain words what catalogues have a word for. A phrase that holds the left side is also read with the right. */
const SPOKEN = `
air conditioner | ac
air conditioners | ac
air conditioning | ac
look after | care
looking after | care
take care of | care
taking care of | care
old people | elder
old person | elder
old age people | elder
aged people | elder
senior citizen | elder
senior citizens | elder
talk to customers | customer service
talking to customers | customer service
talk with customers | customer service
talking with customers | customer service
speaking to customers | customer service
speaking with customers | customer service
dealing with customers | customer service
small children | child
little children | child
`

const spoken: ReadonlyMap<string, string[]> = new Map(
  SPOKEN.trim()
    .split('\n')
    .map((line): [string, string[]] => {
      const [said, meant] = line.split(' | ')
      return [said!, meant!.split(' ')]
    }),
)
const LONGEST = 3

/** The words with every such phrase in the catalogue's words; undefined when they hold none. */
export function inCatalogueWords(words: readonly string[]): string[] | undefined {
  const reading: string[] = []
  let changed = false
  for (let at = 0; at < words.length; ) {
    let taken = 0
    for (let length = Math.min(LONGEST, words.length - at); length > 1 && taken === 0; length--) {
      const meant = spoken.get(words.slice(at, at + length).join(' '))
      if (!meant) continue
      reading.push(...meant)
      taken = length
    }
    if (taken > 0) changed = true
    else reading.push(words[at]!)
    at += taken || 1
  }
  return changed ? reading : undefined
}
