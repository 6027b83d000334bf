import { readFileSync } from 'node:fs'

/** A sentence with the labelled spans of two types, as offsets in UTF-16 units. */
export interface LabelledSentence {
  text: string
  /** The job advertisement that contains the sentence. Folds of a cross-validation keep advertisements together. */
  advertisement: string
  source: string
  /** By type: spans of skills (clauses such as "coordinate developers"), then of knowledge (names such as "Java"). */
  spans: { start: number; end: number }[][]
}

/** Reads a file of SkillSpan. Its tokens are joined by spaces. */
export function readSkillSpan(path: string): LabelledSentence[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { idx, source, tokens, tags_skill, tags_knowledge } = JSON.parse(line) as {
        idx: number
        source: string
        tokens: string[]
        tags_skill: string[]
        tags_knowledge: string[]
      }
      const starts: number[] = []
      let text = ''
      for (const token of tokens) {
        if (text) text += ' '
        starts.push(text.length)
        text += token
      }
      const spans = [tags_skill, tags_knowledge].map((tags) => {
        const typeSpans: { start: number; end: number }[] = []
        tags.forEach((tag, i) => {
          if (tag === 'B') typeSpans.push({ start: starts[i]!, end: starts[i]! + tokens[i]!.length })
          else if (tag === 'I') typeSpans.at(-1)!.end = starts[i]! + tokens[i]!.length
        })
        return typeSpans
      })
      return { text, advertisement: `${source} ${idx}`, source, spans }
    })
}
