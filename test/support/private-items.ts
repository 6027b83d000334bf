import type { Context } from '../../server/context.ts'
import { skillItemPurpose } from '../../server/items/item-store.ts'
import { newId } from '../../server/platform/ids.ts'
import type { Language } from '../../server/platform/text/languages.ts'
import type { SkillItem } from '../../server/questions/skill-items.ts'

interface PrivateItems {
  skillNumber: number
  count: number
  status?: 'pilot' | 'active' | 'retired'
  languages?: Language[]
}

/** Stores items of an organisation. Their stems contain `private question`, the number of the item, its status and the language. */
export async function insertPrivateItems(
  { db, vault, clock }: Pick<Context, 'db' | 'vault' | 'clock'>,
  orgId: string,
  { skillNumber, count, status = 'active', languages = ['en'] }: PrivateItems,
): Promise<string[]> {
  const now = new Date(clock.now())
  const rows = Array.from({ length: count }, (_, index) => {
    const id = newId('IT_', clock.now())
    const texts = languages.map((language) => [
      language,
      {
        stem: `This is private question ${index + 1} (${status}) (${language}). What do you do next?`,
        options: ['Take the red tool', 'Take the blue tool', 'Take the grey tool', 'Take the green tool'],
      },
    ])
    const item: SkillItem = { id, pool: id, kind: 'tool', difficulty: 0, texts: Object.fromEntries(texts) }
    return {
      item_id: id,
      org_id: orgId,
      skill_number: skillNumber,
      source: 'private',
      content: vault.seal(JSON.stringify(item), skillItemPurpose(id)),
      content_digest: vault.mac(id, 'skill item'),
      status,
      created_at: now,
      updated_at: now,
    }
  })
  await db.queries.insertInto('skill_items').values(rows).execute()
  return rows.map(({ item_id }) => item_id)
}
