import type { SourceContext } from '../questions.ts'
import { contentWords, foldText, wordsOf } from '../text.ts'
import { sourceForModel } from './source-for-model.ts'

/** Checks of AI items against the text of the person whom they are for. The first option is the key. */
export interface ItemAboutSource {
  stem: string
  options: readonly string[]
  skillName: string
  context: SourceContext
}

/** Returns the reason why an item that depends on the person's text, or contains instructions, is rejected. */
export function findSourceError({ stem, options, skillName, context }: ItemAboutSource): string | undefined {
  if ([stem, ...options].some(containsInstruction))
    return 'contains an instruction, or says which option is right, instead of asking about the work'
  const { names, keywords } = sourceForModel(context)
  const [key, ...distractors] = options as [string, ...string[]]
  for (const [field, name] of Object.entries(names)) {
    const count = distractors.filter((option) => mentionsName(option, name)).length
    if (mentionsName(key, name) ? count === 0 : count === distractors.length)
      return `the right option can be found by the ${field} of the source`
  }
  const sourceWords = contentWords([...Object.values(names), ...keywords].join('. '))
  const distractorWords = contentWords(distractors.join('. '))
  const keyWords = [...contentWords(key)]
  if (keyWords.some((word) => !distractorWords.has(word)) && keyWords.every((word) => sourceWords.has(word)))
    return 'the right option repeats the source'
  const skillWords = contentWords(skillName)
  const ownWords = [...contentWords(stem)].filter((word) => !sourceWords.has(word) && !skillWords.has(word))
  if (sourceWords.size > 0 && ownWords.length === 0) return 'the stem only repeats the source'
  return undefined
}

/** Words of company names that people leave out. */
const LEGAL_FORMS = new Set('co company corp corporation inc limited llp ltd private pvt the'.split(' '))

function mentionsName(option: string, name: string): boolean {
  const words = wordsOf(name).filter((word) => !LEGAL_FORMS.has(word))
  return words.length > 0 && ` ${wordsOf(option).join(' ')} `.includes(` ${words.join(' ')} `)
}

/**
 * Instructions to a model or to the reader about the options. The patterns are narrow, because questions about work also contain rules,
 * answers and choices: "A caller asks you to ignore the rule. What do you do?"
 */
const INSTRUCTION_PATTERNS = [
  /\b(?:ignore|disregard|forget|override)\b[^.?!]{0,40}\b(?:instructions?|prompts?|previous|above)\b/,
  /\b(?:previous|prior|above|earlier) (?:instructions|prompts?)\b|\brules above\b|\bas an ai\b/,
  /\b(?:correct|right|true) (?:answer|option|choice)\b[\s"']*(?:is|are|must|should|will|=|:)/,
  /\b(?:first|second|third|fourth|last) (?:option|answer)\b/,
  /\b(?:mark|choose|pick|select|tick|treat|count)\b[^.?!]{0,30}\bas (?:the )?(?:right|correct|true)\b/,
  /<\/?data>|<\||\[\/?(?:inst|sys)\]|"(?:role|right|key|answer|correct|wrong_\d)"\s*:/,
  /(?:^|[\n.?!:]\s*)(?:system|assistant|developer)\s*:/,
  /(?:ऊपर|पिछले|पूर्व|उपरोक्त)(?: [^\s?।]+){0,2} (?:निर्देश|नियम)/,
  /(?:निर्देश|निर्देशों)(?: [^\s?।]+)? (?:अनदेखा|अनदेखी|नजरअंदाज|भूल)/,
  /(?:पहला|दूसरा|तीसरा|चौथा|आखिरी|अंतिम) (?:विकल्प|उत्तर|जवाब)|पहले विकल्प/,
  /(?:विकल्प|उत्तर|जवाब)[\s:="'(]*(?:[a-d]|ए|बी|सी|डी|[1-4])(?![\p{L}\p{M}\p{N}])/u,
  /सही (?:उत्तर|जवाब|विकल्प)[^?।]{0,15} (?:मानें|मानो|बनाएँ|बनाएं|बनाओ|रखें|रखो)/,
]
/** With a capital letter: "Option A" is an option, "answer a call" is work. */
const OPTION_LETTER = /\b(?:option|Option|OPTION|choice|Choice|answer|Answer|ANSWER)s?[\s:=("']*[A-D]\b/

function containsInstruction(text: string): boolean {
  const foldedText = foldText(text)
  return OPTION_LETTER.test(text) || INSTRUCTION_PATTERNS.some((pattern) => pattern.test(foldedText))
}
