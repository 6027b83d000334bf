import { skillNumber } from './ids.ts'
import type { SnapshotSkill } from './snapshot.ts'

interface SkillSource<T> {
  skill(number: number): T | undefined
  skillByName?(name: string): T | undefined
}

/**
 * The result of `Catalogue.load`. Functions that look up skills from a request take this type, and not a snapshot. TypeScript does
 * not accept a snapshot instead, so a caller cannot forget to load skills that are newer than the snapshot.
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

  /** Finds a skill by its name, not by an alias. Ignores case and white space. */
  byName(name: string): T | undefined {
    return this.#source.skillByName?.(name)
  }
}
