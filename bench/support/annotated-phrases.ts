import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'
import { parseCsv, readSharedFile } from './skill-catalogues.ts'

/** A phrase of a job advertisement with the skills of ESCO that people assigned to it. */
export interface AnnotatedPhrase {
  evaluationSet: string
  /** The sentence of the advertisement that contains the phrase. */
  sentence: string
  phrase: string
  /** Numbers of the annotated skills. */
  expectedNumbers: number[]
}

/**
 * Reads the annotated phrases. A label that ESCO has renamed since is searched among the aliases; labels that no longer exist
 * count as not found.
 */
export function readPhrases(skills: SkillEntry[]): AnnotatedPhrase[] {
  const byName = new Map(skills.map(({ name, number }) => [name.toLowerCase(), [number]]))
  const byAlias = new Map<string, number[]>()
  for (const { number, aliases } of skills)
    for (const alias of aliases) byAlias.set(alias.toLowerCase(), [...(byAlias.get(alias.toLowerCase()) ?? []), number])
  const phrases = new Map<string, AnnotatedPhrase>()
  for (const set of ['house', 'tech']) {
    for (const { sentence, span, sub_span, label } of parseCsv(readSharedFile(`eval/${set}_validation.csv`))) {
      if (!label || label === 'LABEL NOT PRESENT' || label === 'UNDERSPECIFIED') continue
      const phrase = sub_span || span!
      const key = `${set}\n${sentence}\n${phrase}`
      const annotatedPhrase = phrases.get(key) ?? {
        evaluationSet: set,
        sentence: sentence!,
        phrase,
        expectedNumbers: [],
      }
      annotatedPhrase.expectedNumbers.push(
        ...(byName.get(label.toLowerCase()) ?? byAlias.get(label.toLowerCase()) ?? [-1]),
      )
      phrases.set(key, annotatedPhrase)
    }
  }
  return [...phrases.values()].map((annotatedPhrase) => ({
    ...annotatedPhrase,
    expectedNumbers: [...new Set(annotatedPhrase.expectedNumbers)],
  }))
}
