import { type Static, Type } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import { skillId } from '../../catalogue/ids.ts'
import { readSkillFamilies } from '../../catalogue/skill-families.ts'
import type { Context } from '../../context.ts'
import { checkTypedItem, lockOwnItems, storeTypedItem } from '../../items/exchange/import.ts'
import { MAX_DISTRACTORS, MIN_DISTRACTORS, UNSPECIFIED_KIND } from '../../items/exchange/item-draft.ts'
import { getItemRef } from '../../items/item-status.ts'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { ITEM_KINDS } from '../../questions/bank/format.ts'
import { Language } from '../../workflows/schema.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { closed, successResponse } from '../schema.ts'
import { StoredQuestion } from './question-schema.ts'

/** Longer than any text that the checks accept: they count visible characters. */
const MAX_TEXT_LENGTH = 1500

const ItemText = Type.String({ minLength: 1, maxLength: MAX_TEXT_LENGTH, pattern: NOT_BLANK_PATTERN })
const QuestionInput = Type.Object(
  {
    kind: Type.Enum([UNSPECIFIED_KIND, ...ITEM_KINDS]),
    difficulty: Type.Integer({ minimum: 1, maximum: 3 }),
    texts: Type.Array(
      Type.Object(
        {
          language: Language,
          stem: ItemText,
          options: Type.Array(ItemText, { minItems: 1 + MIN_DISTRACTORS, maxItems: 1 + MAX_DISTRACTORS }),
        },
        closed,
      ),
      { minItems: 1, maxItems: 12 },
    ),
  },
  closed,
)
const SkillParams = Type.Object({ skill_id: Type.String({ pattern: '^sk_[1-9][0-9]{0,8}$' }) })
const ItemParams = Type.Object({
  ...SkillParams.properties,
  item_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,60}$' }),
})

interface Question {
  kind: string
  difficulty: number
  texts: { language: Static<typeof Language>; stem: string; options: string[] }[]
}

/** Routes with which owners add and change single questions of the organisation's own bank. */
export function ownQuestionRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  // Only members who may see the texts may change them; operators use the command line.
  const config = { role: 'owner', membersOnly: true } as const

  app.post(
    '/orgs/:org/:mode/questions/:skill_id',
    { config, schema: { params: SkillParams, body: QuestionInput, response: { 200: success(StoredQuestion) } } },
    async (request) => {
      const checked = await check(request.params.skill_id, undefined, request.body)
      const stored = await db.transaction(async (tx) => {
        const { itemId, warnings } = await storeTypedItem(tx, { vault, clock }, request.caller.orgId, checked)
        await recordRequestAudit(tx, context, request, 'item.add', itemId, { skill: request.params.skill_id })
        return { item_id: itemId, warnings }
      })
      return successResponse('Question added', stored)
    },
  )

  app.put(
    '/orgs/:org/:mode/questions/:skill_id/:item_id',
    { config, schema: { params: ItemParams, body: QuestionInput, response: { 200: success(StoredQuestion) } } },
    async (request) => {
      const { skill_id, item_id } = request.params
      const { orgId } = request.caller
      // A question about a merged skill is shown with those about the surviving one, and stays a question about its own.
      const { skillNumber: ownSkill } = await getItemRef(db.queries, orgId, item_id)
      const families = await readSkillFamilies(db.queries, [ownSkill])
      if (!families.numbersOf(ownSkill).map(skillId).includes(skill_id))
        throw problem('NOT_FOUND', `Question ${item_id} not found.`)
      const checked = await check(skillId(ownSkill), item_id, request.body)
      const stored = await db.transaction(async (tx) => {
        await lockOwnItems(tx, orgId)
        const item = await getItemRef(tx, orgId, item_id)
        if (item.skillNumber !== ownSkill) throw problem('NOT_FOUND', `Question ${item_id} not found.`)
        if (item.source !== 'private')
          throw problem(
            'CONFLICT',
            "Only your organisation's own questions can be changed. Exclude this one from a mandate, or add questions of your own.",
          )
        const { itemId, warnings } = await storeTypedItem(tx, { vault, clock }, orgId, checked)
        await recordRequestAudit(tx, context, request, 'item.change', item_id, { skill: skill_id, question: itemId })
        return { item_id: itemId, warnings }
      })
      return successResponse('Question changed', stored)
    },
  )

  function check(skill: string, itemId: string | undefined, { difficulty, ...question }: Question) {
    const languages = question.texts.map(({ language }) => language)
    const repeated = languages.findIndex((language, index) => languages.indexOf(language) < index)
    if (repeated >= 0)
      throw invalid([{ path: `texts[${repeated}].language`, message: 'is listed twice; write each language once' }])
    return checkTypedItem(db.queries, {
      ...question,
      difficulty: difficulty as AuthorDifficulty,
      itemId,
      skillId: skill,
    })
  }
}
