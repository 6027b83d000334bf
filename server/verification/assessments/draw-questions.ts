import type { ItemSet } from '../../items/item-store.ts'
import { drawItem, KEY } from '../../measurement/form.ts'
import { SeededRandom } from '../../measurement/seeded-random.ts'
import type { Language } from '../../platform/text/languages.ts'
import { checkItem } from '../../questions/checks.ts'
import { leadInsFor } from '../../questions/lead-ins.ts'
import type { SourceContext } from '../../questions/questions.ts'
import { distractorCount, type ItemSource, languagesOf, type SkillItem, showItem } from '../../questions/skill-items.ts'
import type { ChosenSkill } from '../session-skills.ts'

/** A question of an assessment, with its key. */
export interface AssessmentItem {
  skill: number
  stem: string
  options: string[]
  key: number
  /** Identifies the item, so that it is not asked again. */
  itemId: string
  source: ItemSource
  /** Difficulty in logits. */
  difficulty: number
  /** Whether too few people have answered the item to know how good it is. */
  isUnpiloted: boolean
  /** The options in the order in which they are shown, as `drawItem` returns them. */
  shownOptions: number[]
  language: Language
}

interface Form {
  /** Number of questions per skill. */
  count: number
  seed: string
  /** Language of the student. */
  language: Language
  /** The work in which the student used the skills. */
  context: SourceContext
  /** IDs of items that the student has seen. */
  seenItems: ReadonlySet<string>
}

/** Draws the questions about a skill. Items that the student has seen are used only if there are no others. */
export function drawQuestions(
  { source, items }: ItemSet,
  skill: ChosenSkill,
  { count, seed, language, context, seenItems }: Form,
): AssessmentItem[] {
  const scored = items.filter(({ isPilot }) => !isPilot)
  const itemLanguage = chooseLanguage(scored, language)
  const askable = scored.filter(({ texts }) => texts[itemLanguage])
  const skillSeed = `${seed} ${skill.number}`
  const drawable = askable.map((item) => ({
    pool: item.pool,
    kind: item.kind,
    distractorCount: distractorCount(item),
    wasSeen: seenItems.has(item.id),
  }))
  const leadIns = leadInsFor(skill.name, context, itemLanguage, new SeededRandom(`${skillSeed} lead-ins`))
  const asked: number[] = []
  const questions: AssessmentItem[] = []
  /** Items that were seen, or whose lead-ins may all give the answer away. Used only if there are no others. */
  const spareQuestions: AssessmentItem[] = []
  while (questions.length < count) {
    const drawn = drawItem(drawable, asked, skillSeed)
    if (!drawn) break
    asked.push(drawn.item)
    const item = askable[drawn.item]!
    const { stem, options } = showItem(item, drawn.options, skillSeed, itemLanguage)
    const key = drawn.options.indexOf(KEY)
    // Lead-ins exist in English and Hindi; in other languages the name of the skill precedes the question.
    const nameOfSkill = `${skill.name}:`
    const leadIn = [...rotate(leadIns.best, questions.length), ...leadIns.general, ...leadIns.bare, nameOfSkill].find(
      (about) => !givesKeyAway({ stem, options, key, language: itemLanguage, about }),
    )
    const question = {
      skill: skill.number,
      stem: `${leadIn ?? nameOfSkill} ${stem}`,
      options,
      key,
      itemId: item.id,
      source,
      difficulty: item.difficulty,
      isUnpiloted: item.isUnpiloted ?? false,
      shownOptions: drawn.options,
      language: itemLanguage,
    }
    if (leadIn && !drawable[drawn.item]!.wasSeen) questions.push(question)
    else spareQuestions.push(question)
  }
  return [...questions, ...spareQuestions.slice(0, count - questions.length)]
}

/** Returns the language in which a skill is asked: that of the student if enough items have a text in it, otherwise English if possible. */
function chooseLanguage(items: readonly SkillItem[], language: Language): Language {
  const languages = languagesOf(items)
  return [language, 'en' as const].find((candidate) => languages.includes(candidate)) ?? languages[0] ?? 'en'
}

/** Returns whether the lead-in contains a word that is otherwise in the key only. The item itself was checked when it was stored. */
function givesKeyAway(item: Parameters<typeof checkItem>[0]): boolean {
  return checkItem(item).some(({ check }) => check === 'key echoes the stem')
}

function rotate<T>(list: readonly T[], count: number): T[] {
  const start = list.length === 0 ? 0 : count % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
