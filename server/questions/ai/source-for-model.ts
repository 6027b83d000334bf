import type { SourceContext } from '../questions.ts'
import { tidySourceText } from '../source-names.ts'
import { contentWords, visibleLength, wordsOf } from '../text.ts'

/** Characters of a description that are read, and the maximum number and length of the words that are sent of it. */
const MAX_DESCRIPTION_LENGTH = 1500
const MAX_KEYWORDS = 30
const MAX_KEYWORD_LENGTH = 24

/** Words of instructions to a model about questions, which do not describe work. */
const INSTRUCTION_WORDS = new Set(
  `answer answers answered assistant correct correctly distractor distractors disregard ensure every evaluator examiner following forget
  grade grader grading hint hints ignore incorrect instruct instruction instructions item items json label mark marked must option options
  output override pattern phrase prefix previous prompt prompts question questions quiz reply respond response right rule rules
  schema sentence suffix system wrong user word words उत्तर जवाब प्रश्न विकल्प शब्द सवाल सही गलत निर्देश`.split(/\s+/),
)
/** A name with more instruction words than this is not sent. */
const MAX_INSTRUCTION_WORDS_IN_NAME = 1

/**
 * Reduces the text of a person to what the model needs: short names, and single words of the description. Sentences, which could instruct
 * the model to mark the right options, are not sent.
 */
export function sourceForModel({ description, ...names }: SourceContext): Record<string, string | string[]> {
  const source: Record<string, string | string[]> = {}
  for (const [field, text] of Object.entries(names)) {
    const name = typeof text === 'string' ? tidySourceText(text) : ''
    const instructionWords = new Set(wordsOf(name).filter((word) => INSTRUCTION_WORDS.has(word)))
    if (name && instructionWords.size <= MAX_INSTRUCTION_WORDS_IN_NAME) source[field] = name
  }
  const keywords = keywordsOf(description ?? '')
  if (keywords.length > 0) source.keywords = keywords
  return source
}

function keywordsOf(description: string): string[] {
  const words = new Set(wordsOf(tidySourceText(description, MAX_DESCRIPTION_LENGTH)))
  const isKeyword = (word: string) =>
    !INSTRUCTION_WORDS.has(word) && visibleLength(word) <= MAX_KEYWORD_LENGTH && contentWords(word).size > 0
  // In alphabetical order, because the order of a sentence would preserve its meaning.
  return [...words].filter(isKeyword).slice(0, MAX_KEYWORDS).sort()
}
