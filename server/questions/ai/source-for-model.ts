import type { SourceContext } from '../questions.ts'
import { tidySourceText } from '../source-names.ts'
import { contentWords, foldText, visibleLength, wordsOf } from '../text.ts'

/** Characters of a description that are read, and the maximum numbers of keywords and of their words and characters. */
const MAX_DESCRIPTION_LENGTH = 1500
const MAX_KEYWORDS = 30
const MAX_WORDS_PER_KEYWORD = 3
const MAX_WORD_LENGTH = 24

const wordSet = (words: string) => new Set(words.split(/\s+/).map(foldText))

/** Words of instructions to a model about questions, which do not describe work. Hindi also in Latin letters. */
const INSTRUCTION_WORDS = wordSet(
  `always answer answers answered assistant choice choices choose chosen correct correctly distractor distractors disregard end ends ending
  ensure every evaluator examiner false following forget grader hint hints ignore incorrect instruct instruction instructions json label
  mark marked must never option options output override pattern phrase prefix previous prompt prompts question questions reply respond
  right rule rules schema sentence suffix tick true wrong word words
  galat hamesha jawab nirdesh niyam prashn sahi sawal uttar vikalp
  अनदेखा अनदेखी उत्तर उत्तरों गलत चिह्नित चुनें चुनो जवाब जवाबों नजरअंदाज निर्देश निर्देशों नियम नियमों पहला पहली प्रश्न प्रश्नों विकल्प विकल्पों शब्द
  शब्दों सवाल सवालों सही हमेशा`,
)
/** Words that occur in instructions, and also in names of work, such as "Student grading system". */
const AMBIGUOUS_WORDS = wordSet(
  `developer grade grading item items key keys letter letters quiz response select selected system user सिस्टम`,
)
/** A name with more instruction words than this is not sent. */
const MAX_INSTRUCTION_WORDS_IN_NAME = 1

/** Short stop words, which `contentWords` leaves out by their length. */
const SHORT_STOP_WORDS = wordSet(
  `all am an and any are as at be but by can did do for get got had has he her his how if in is it its me my no not of off on one or our
  out per she so the to too up us via was we who why you का की के को है हैं था थी थे में से ने पर यह वह और या तो ही भी`,
)

/** Characters of markup, chat templates and JSON, which names of work do not need. */
const MARKUP_CHARACTERS = /[<>[\]{}|`~^*_=;"\\]+|#{2,}/g

/** The part of a source that the model receives. */
export interface ModelSource {
  /** Short names of the work, such as `role` and `company`. */
  names: Record<string, string>
  /** Phrases of up to three words from the description, in alphabetical order. */
  keywords: string[]
}

/**
 * Reduces the text of a person to the part that the model needs: short names, and keywords of the description. Sentences, which could
 * instruct the model to mark the right options, are not sent.
 */
export function sourceForModel({ description, ...fields }: SourceContext): ModelSource {
  const names: Record<string, string> = {}
  for (const [field, text] of Object.entries(fields)) {
    const name = typeof text === 'string' ? tidySourceText(normalise(text).replace(MARKUP_CHARACTERS, ' ')) : ''
    const instructionWords = new Set(wordsOf(name).filter((word) => INSTRUCTION_WORDS.has(word)))
    if (name && instructionWords.size <= MAX_INSTRUCTION_WORDS_IN_NAME) names[field] = name
  }
  return { names, keywords: keywordsOf(description ?? '') }
}

/** Returns the text without variants of letters, such as full-width ones, which would evade the list of instruction words. */
const normalise = (text: string) => text.slice(0, MAX_DESCRIPTION_LENGTH * 4).normalize('NFKC')

/**
 * Extracts keywords as in RAKE (Rose et al., 2010): runs of words between punctuation and stop words. Instruction words and single letters
 * also end a run, and long runs are split, so that no keyword is a sentence.
 */
function keywordsOf(description: string): string[] {
  const text = tidySourceText(normalise(description).replace(/[\r\n]+/g, '. '), MAX_DESCRIPTION_LENGTH)
  const keywords = new Set<string>()
  let run: string[] = []
  const endRun = () => {
    if (run.some((word) => /\p{L}/u.test(word))) keywords.add(run.join(' '))
    run = []
  }
  for (const part of text.split(/[^\p{L}\p{M}\p{N}\s'’+#-]+/u)) {
    for (const word of wordsOf(part)) {
      if (!isKeywordPart(word)) endRun()
      else if (run.push(word) === MAX_WORDS_PER_KEYWORD) endRun()
    }
    endRun()
  }
  // In alphabetical order, because the order of a sentence would preserve its meaning.
  return [...keywords].slice(0, MAX_KEYWORDS).sort()
}

function isKeywordPart(word: string): boolean {
  if (INSTRUCTION_WORDS.has(word) || AMBIGUOUS_WORDS.has(word) || SHORT_STOP_WORDS.has(word)) return false
  const length = visibleLength(word)
  if (/^\d+$/.test(word)) return length <= 6
  if (length < 2 || length > MAX_WORD_LENGTH) return false
  return contentWords(word).size > 0 || /^[a-z][a-z\d]{1,2}$/.test(word) // short words that are not stop words, such as SQL
}
