import { HOUR, MINUTE } from '../../platform/clock.ts'
import { Cooldown } from './cooldown.ts'
import { REFUSALS_BEFORE_COOLDOWN, type Refusal } from './limiter.ts'
import { RollingLog } from './rolling-log.ts'
import { SeenSkills } from './seen-skills.ts'
import { DAY_SLACK, dayStart, seconds, slackOf } from './windows.ts'

/** A counter that outlives the process: an upsert by key and name. The value is JSON. */
export interface SavedRow {
  key: string
  name: string
  value: number[]
  /** Milliseconds since 1970. */
  expiresAt: number
}

// Long lists are saved in pieces, so that a change rewrites one small row.
const PAGES_A_ROW = 25
const SKILLS_A_ROW = 128

/** What is known of a key beside its buckets: cooldown, refusals, browsed pages, seen skills. Only keys in need have one. */
export class KeyState {
  readonly key: string
  readonly cooldown = new Cooldown()
  readonly #refusals = new RollingLog(MINUTE)
  readonly #pages = new RollingLog(HOUR)
  #skills: SeenSkills | undefined
  /** How many pages were ever counted: a page's number tells which row it is saved in. */
  #pagesCounted = 0
  #pagesSaved = 0
  #skillsSaved = 0
  #skillsSavedDay = 0
  #cooldownSaved = 0

  constructor(key: string) {
    this.key = key
  }

  /** Counts a refusal; the cooldown that it starts, in milliseconds, or 0. */
  refuse(now: number): number {
    this.#refusals.times.push(this.#refusals.settle(now))
    return this.#refusals.times.length < REFUSALS_BEFORE_COOLDOWN ? 0 : this.#beginCooldown(now)
  }

  browsePage(most: number, now: number): Refusal | undefined {
    let left = this.cooldown.left(now)
    if (left === 0) {
      const time = this.#pages.settle(now)
      if (this.#pages.times.length < most) {
        this.#pages.times.push(time)
        this.#pagesCounted++
        return undefined
      }
      left = this.#beginCooldown(now)
    }
    return { code: 'COOLDOWN', retryAfter: seconds(left) }
  }

  seeSkills(skills: readonly number[], most: number, now: number): Refusal | undefined {
    this.#skills ??= new SeenSkills()
    const seen = this.#skills
    seen.settle(now)
    const fresh = new Set<number>()
    for (const id of skills) if (!seen.has(id)) fresh.add(id)
    if (fresh.size > 0 && seen.count + fresh.size > most)
      return { code: 'DAILY_CAP', retryAfter: seconds(dayStart(seen.day + 1) - now) }
    for (const id of fresh) seen.add(id)
    return undefined
  }

  #beginCooldown(now: number): number {
    this.cooldown.begin(now)
    this.#refusals.times.length = 0
    return this.cooldown.left(now)
  }

  /** Lets go of what no longer counts; true where nothing is left. */
  sweep(now: number): boolean {
    this.#refusals.settle(now)
    this.#pages.settle(now)
    if (this.#skills && dayStart(this.#skills.day + 1) + DAY_SLACK <= now) this.#skills = undefined
    const forgotten = this.cooldown.level === 0 || this.cooldown.forgottenAt < now
    return forgotten && !this.#skills && this.#refusals.times.length === 0 && this.#pages.times.length === 0
  }

  /** The rows that changed since the last call. */
  changes(rows: SavedRow[]): void {
    const { key, cooldown } = this
    if (cooldown.start !== this.#cooldownSaved) {
      this.#cooldownSaved = cooldown.start
      rows.push({ key, name: 'cooldown', value: [cooldown.start, cooldown.level], expiresAt: cooldown.forgottenAt })
    }
    this.#changedPages(rows)
    this.#changedSkills(rows)
  }

  /** Takes up where saved rows left off, given all of the key's rows. */
  restore(rows: readonly SavedRow[]): void {
    for (const { value } of rowsNamed(rows, 'cooldown')) [this.cooldown.start = 0, this.cooldown.level = 0] = value
    this.#cooldownSaved = this.cooldown.start

    const pages = rowsNamed(rows, 'pages')
    this.#pages.times.push(...pages.flatMap(({ value }) => value).sort((a, b) => a - b))
    const lastRow = pages.at(-1)?.numbers[0] ?? -1
    this.#pagesCounted = this.#pagesSaved = (lastRow + 1) * PAGES_A_ROW

    const skills = rowsNamed(rows, 'skills')
    const day = skills.at(-1)?.numbers[0]
    if (day === undefined) return
    this.#skills = new SeenSkills(day)
    for (const row of skills) if (row.numbers[0] === day) for (const id of row.value) this.#skills.add(id)
    this.#skillsSaved = this.#skills.count
    this.#skillsSavedDay = day
  }

  #changedPages(rows: SavedRow[]): void {
    const { times } = this.#pages
    const first = this.#pagesCounted - times.length
    const changed = Math.max(first, this.#pagesSaved)
    if (changed === this.#pagesCounted) return
    this.#pagesSaved = this.#pagesCounted
    for (let row = Math.floor(changed / PAGES_A_ROW); row * PAGES_A_ROW < this.#pagesCounted; row++) {
      const value = times.slice(Math.max(0, row * PAGES_A_ROW - first), (row + 1) * PAGES_A_ROW - first)
      rows.push({ key: this.key, name: `pages:${row}`, value, expiresAt: value.at(-1)! + HOUR + slackOf(HOUR) })
    }
  }

  #changedSkills(rows: SavedRow[]): void {
    const seen = this.#skills
    if (!seen) return
    if (this.#skillsSavedDay !== seen.day) {
      this.#skillsSavedDay = seen.day
      this.#skillsSaved = 0
    }
    if (this.#skillsSaved === seen.count) return
    const expiresAt = dayStart(seen.day + 1) + DAY_SLACK
    for (let row = Math.floor(this.#skillsSaved / SKILLS_A_ROW); row * SKILLS_A_ROW < seen.count; row++) {
      const value = seen.slice(row * SKILLS_A_ROW, (row + 1) * SKILLS_A_ROW)
      rows.push({ key: this.key, name: `skills:${seen.day}:${row}`, value, expiresAt })
    }
    this.#skillsSaved = seen.count
  }
}

/** The rows of one list, in the order in which they were filled: `skills:20345:9` comes before `skills:20345:10`. */
function rowsNamed(rows: readonly SavedRow[], list: string) {
  return rows
    .filter(({ name }) => name === list || name.startsWith(`${list}:`))
    .map(({ name, value }) => ({ value, numbers: name.split(':').slice(1).map(Number) }))
    .sort((x, y) => x.numbers[0]! - y.numbers[0]! || x.numbers[1]! - y.numbers[1]!)
}
