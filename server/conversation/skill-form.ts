import { drawItem, KEY } from '../measurement/form.ts'
import type { Response } from '../measurement/model.ts'
import { SeededRandom } from '../measurement/seeded-random.ts'
import { MIN_ITEMS, needsMoreItems } from '../measurement/sequential-test.ts'
import type { Language } from '../platform/text/languages.ts'
import { distractorCount, type ShownItem, type SkillItem, showItem } from '../questions/skill-items.ts'
import type { ConversationFlow, FlowSkill, Point } from './flow.ts'
import type { ConversationState, FormItem } from './state.ts'

/**
 * The items that a candidate is asked about each skill. They are drawn for each candidate, and stored in the state as soon as it is
 * certain that they are asked: a candidate who continues on another channel, or after a crash of the server, gets the same items.
 */

/** Draws the first items of each skill. They are asked whatever the answers are. */
export function drawFirstItems(state: ConversationState, flow: ConversationFlow): ConversationState {
  if (!flow.methods.includes('skill_verification') || state.skills.length === flow.skills.length) return state
  const skills = flow.skills.map((skill, index) => {
    if (skill.fixedForm) return skill.fixedForm.map((item) => ({ ...item }))
    const seed = seedOf(state, index)
    const items = itemsInLanguage(state, skill, [])
    return withPilotItem(withNextItems([], items, seed, MIN_ITEMS, state.seenItems), items, seed)
  })
  return { ...state, skills }
}

function seedOf({ seed }: ConversationState, skill: number): string {
  return `${seed} skill ${skill}`
}

/**
 * Returns the items that exist in the language in which the candidate is asked, and those that are already in the form. A private bank
 * may have translated only some of its items.
 */
function itemsInLanguage(state: ConversationState, { items, languages }: FlowSkill, form: FormItem[]): SkillItem[] {
  const { language, skillLanguage: chosen } = state
  const needed = languages.includes(language) ? [language] : chosen ? [chosen] : languages
  const formIds = new Set(form.map(({ id }) => id))
  return items.filter(({ id, texts }) => formIds.has(id) || needed.every((each) => texts[each]))
}

/** Adds the next `count` scored items to a form, or as many as there are. */
function withNextItems(
  form: FormItem[],
  items: SkillItem[],
  seed: string,
  count: number,
  seenItems: readonly string[] = [],
): FormItem[] {
  const scored = scoredItems(items, form)
  const seen = new Set(seenItems)
  const drawable = scored.map((item) => ({
    pool: item.pool,
    kind: item.kind,
    distractorCount: distractorCount(item),
    wasSeen: seen.has(item.id),
  }))
  const asked = form.filter(({ pilot }) => !pilot).map(({ id }) => scored.findIndex((item) => item.id === id))
  const longerForm = [...form]
  for (let added = 0; added < count; added++) {
    const drawn = drawItem(drawable, asked, seed)
    if (!drawn) break
    asked.push(drawn.item)
    longerForm.push({ id: scored[drawn.item]!.id, options: drawn.options })
  }
  return longerForm
}

/** Returns the scored items that a form contains or can contain. */
function scoredItems(items: SkillItem[], form: FormItem[]): SkillItem[] {
  const formIds = new Set(form.map(({ id }) => id))
  return items.filter(({ id, isPilot, isRetired }) => !isPilot && (!isRetired || formIds.has(id)))
}

/** Inserts one pilot item at a random position, if the skill has pilot items. */
function withPilotItem(form: FormItem[], items: SkillItem[], seed: string): FormItem[] {
  const random = new SeededRandom(`${seed} pilot`)
  const item = random.pick(items.filter(({ isPilot, isRetired }) => isPilot && !isRetired))
  if (!item) return form
  const distractors = random.sample(
    Array.from({ length: distractorCount(item) }, (_, index) => index),
    3,
  )
  const pilot: FormItem = { id: item.id, options: random.shuffled([KEY, ...distractors]), pilot: true }
  const position = random.below(form.length + 1)
  return [...form.slice(0, position), pilot, ...form.slice(position)]
}

/** Returns the scored answers about a skill. */
export function responsesOf({ skills }: ConversationState, flow: ConversationFlow, skill: number): Response[] {
  return (skills[skill] ?? []).flatMap(({ id, options, choice, pilot }) => {
    if (choice === undefined || pilot) return []
    const { difficulty, isUnpiloted = false } = itemById(flow, skill, id)
    return [{ difficulty, isUnpiloted, isCorrect: options[choice] === KEY }]
  })
}

/** Returns whether all questions about a skill have been answered. */
export function isSkillDone(state: ConversationState, flow: ConversationFlow, skill: number): boolean {
  const form = state.skills[skill]
  if (!form || form.some(({ choice }) => choice === undefined)) return false
  const flowSkill = flow.skills[skill]!
  if (flowSkill.fixedForm) return true
  const items = itemsInLanguage(state, flowSkill, form)
  return !needsMoreItems(responsesOf(state, flow, skill), scoredItems(items, form).length)
}

/** Returns the position of the next question about a skill, and the state with its item; undefined if no question is needed. */
export function nextItem(
  state: ConversationState,
  flow: ConversationFlow,
  skill: number,
): { state: ConversationState; item: number } | undefined {
  const form = state.skills[skill]
  if (!form) return undefined
  const unanswered = form.findIndex(({ choice }) => choice === undefined)
  if (unanswered >= 0) return { state, item: unanswered }
  if (isSkillDone(state, flow, skill)) return undefined
  const items = itemsInLanguage(state, flow.skills[skill]!, form)
  const longerForm = withNextItems(form, items, seedOf(state, skill), 1, state.seenItems)
  if (longerForm.length === form.length) return undefined
  return { state: { ...state, skills: state.skills.with(skill, longerForm) }, item: form.length }
}

/** Returns the language in which a skill is asked. */
export function skillLanguage(
  { language, skillLanguage: chosen }: ConversationState,
  { languages }: FlowSkill,
): Language {
  if (languages.includes(language) || languages.length === 0) return language
  return chosen !== undefined && languages.includes(chosen) ? chosen : languages.includes('en') ? 'en' : languages[0]!
}

/** Returns whether the candidate must choose the language of a skill: it does not exist in theirs, and there is a choice. */
export function needsSkillLanguage(state: ConversationState, { languages }: FlowSkill): boolean {
  return !languages.includes(state.language) && languages.length > 1 && state.skillLanguage === undefined
}

/** Returns the text of an item of the candidate's form. */
export function shownItem(
  state: ConversationState,
  flow: ConversationFlow,
  { skill, item }: Extract<Point, { at: 'skills' }>,
): ShownItem {
  const { id, options } = state.skills[skill]![item]!
  return showItem(itemById(flow, skill, id), options, state.seed, skillLanguage(state, flow.skills[skill]!))
}

export function itemById({ skills }: ConversationFlow, skill: number, id: string): SkillItem {
  return skills[skill]!.items.find((item) => item.id === id)!
}
