import { skillNumber } from './ids.ts'
import type { SnapshotSkill } from './snapshot.ts'

interface SkillSource<T> {
  skill(number: number): T | undefined
  skillByName?(name: string): T | undefined
}

/**
 * Skills that were loaded from the database. Functions that look up skills by IDs or names from a request take this type. A snapshot is
 * not assignable to it, so that recently added skills are always loaded.
 */
export class LoadedSkills<T = SnapshotSkill> {
  readonly #source: SkillSource<T>

  constructor(source: SkillSource<T>) {
    this.#source = source
  }

  skill(number: number): T | undefined {
    return this.#source.skill(number)
  }

  /** Finds a skill by its ID, such as `sk_1001`. */
  byId(id: string): T | undefined {
    const number = skillNumber(id)
    return number === undefined ? undefined : this.#source.skill(number)
  }

  /** Finds a skill by its name, ignoring case and spacing; aliases do not count. */
  byName(name: string): T | undefined {
    return this.#source.skillByName?.(name)
  }
}
