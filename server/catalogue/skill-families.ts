import { sql } from 'kysely'
import type { Queries } from '../platform/database/database.ts'

/**
 * Skills that are the same: a surviving skill, and the skills that were merged into it. Records keep the number that was recorded, so
 * rules that compare skills compare the survivors.
 */
export class SkillFamilies {
  readonly #survivors: ReadonlyMap<number, number>
  readonly #merged: ReadonlyMap<number, number[]>

  constructor(merges: readonly { skill_number: number; survivor_number: number }[]) {
    this.#survivors = new Map(merges.map(({ skill_number, survivor_number }) => [skill_number, survivor_number]))
    const groups = Map.groupBy(merges, ({ survivor_number }) => survivor_number)
    this.#merged = new Map([...groups].map(([number, rows]) => [number, rows.map(({ skill_number }) => skill_number)]))
  }

  /** Returns the surviving skill: the skill itself, unless it was merged into another one. */
  survivorOf(number: number): number {
    return this.#survivors.get(number) ?? number
  }

  /** Returns all numbers of the same skill, the survivor first. */
  numbersOf(number: number): number[] {
    const survivor = this.survivorOf(number)
    return [survivor, ...(this.#merged.get(survivor) ?? [])]
  }
}

/** Reads which of these skills, or of all skills, are the same as others. */
export async function readSkillFamilies(queries: Queries, numbers: readonly number[] | 'all'): Promise<SkillFamilies> {
  const ofNumbers =
    numbers === 'all'
      ? sql``
      : sql`where survivor_number = any ((select surviving_skills(${[...numbers]}::integer[]))::integer[])`
  const { rows } = await sql<{ skill_number: number; survivor_number: number }>`
    select skill_number, survivor_number from skill_merges ${ofNumbers} order by skill_number`.execute(queries)
  return new SkillFamilies(rows)
}

/** Condition: a skill number is one of the same skill as one of these. The numbers are looked up once per statement. */
export function isSameSkill(column: string, numbers: readonly number[]) {
  return sql<boolean>`${sql.ref(column)} = any ((select same_skills(${[...numbers]}::integer[]))::integer[])`
}
