import { HOUR, MINUTE } from '../../platform/clock.ts'
import { indianDayStart } from '../../platform/india-time.ts'
import { Cooldown } from './cooldown.ts'
import { RollingLog } from './rolling-log.ts'
import { SeenSkills } from './seen-skills.ts'
import { clockSlackMs, DAY_SLACK_MS } from './windows.ts'

/** A counter that survives a restart: a row to upsert by key and name. */
export interface SavedCounterRow {
  key: string
  name: string
  value: number[]
  /** Milliseconds since 1970. */
  expiresAt: number
}

// Long lists are split into rows, so that a change rewrites one small row.
const PAGES_PER_ROW = 25
const SKILLS_PER_ROW = 128

/** State of a key, or of all keys of an organisation, other than its buckets: cooldown, rejections, browsed pages and seen skills. Created only when needed. */
export class KeyState {
  readonly key: string
  readonly cooldown = new Cooldown()
  readonly #rejections = new RollingLog(MINUTE)
  readonly #pages = new RollingLog(HOUR)
  #skills: SeenSkills | undefined
  /** Number of pages ever counted. A page's number determines the row that it is saved in. */
  #pagesCounted = 0
  #pagesSaved = 0
  #skillsSaved = 0
  #skillsSavedDay = 0
  #savedCooldownStart = 0

  constructor(key: string) {
    this.key = key
  }

  /** Counts a rejection. Returns the length in milliseconds of the cooldown that it starts, or 0. */
  recordRejection(limit: number, now: number): number {
    this.#rejections.times.push(this.#rejections.prune(now))
    return this.#rejections.times.length < limit ? 0 : this.beginCooldown(now)
  }

  isPageLimitReached(limit: number, now: number): boolean {
    return this.#pages.count(now) >= limit
  }

  countPage(now: number): void {
    this.#pages.times.push(this.#pages.prune(now))
    this.#pagesCounted++
  }

  /** Returns the skills that were not returned today, each once. */
  unseenSkills(skills: readonly number[], now: number): Set<number> {
    this.#skills ??= new SeenSkills()
    this.#skills.advanceTo(now)
    const unseenIds = new Set<number>()
    for (const id of skills) if (!this.#skills.has(id)) unseenIds.add(id)
    return unseenIds
  }

  /** Returns the milliseconds until the skills can be counted; 0 if they can be now. Call `unseenSkills` first. */
  skillsWait(unseenIds: ReadonlySet<number>, limit: number, now: number): number {
    const { count, day } = this.#skills!
    return unseenIds.size > 0 && count + unseenIds.size > limit ? indianDayStart(day + 1) - now : 0
  }

  countSkills(unseenIds: ReadonlySet<number>): void {
    for (const id of unseenIds) this.#skills!.add(id)
  }

  /** Starts a cooldown and returns its length in milliseconds. */
  beginCooldown(now: number): number {
    this.cooldown.begin(now)
    this.#rejections.times.length = 0
    return this.cooldown.remaining(now)
  }

  /** Deletes expired state. Returns true if nothing is left. */
  sweep(now: number): boolean {
    this.#rejections.prune(now)
    this.#pages.prune(now)
    if (this.#skills && indianDayStart(this.#skills.day + 1) + DAY_SLACK_MS <= now) this.#skills = undefined
    const cooldownExpired = this.cooldown.level === 0 || this.cooldown.levelResetsAt < now
    return cooldownExpired && !this.#skills && this.#rejections.times.length === 0 && this.#pages.times.length === 0
  }

  /** Adds the rows that changed since the last call. */
  collectChanges(rows: SavedCounterRow[]): void {
    const { key, cooldown } = this
    if (cooldown.start !== this.#savedCooldownStart) {
      this.#savedCooldownStart = cooldown.start
      rows.push({ key, name: 'cooldown', value: [cooldown.start, cooldown.level], expiresAt: cooldown.levelResetsAt })
    }
    this.#collectPages(rows)
    this.#collectSkills(rows)
  }

  /** Restores the state from all saved rows of the key. */
  restore(rows: readonly SavedCounterRow[]): void {
    for (const { value } of rowsOfList(rows, 'cooldown')) [this.cooldown.start = 0, this.cooldown.level = 0] = value
    this.#savedCooldownStart = this.cooldown.start

    const pageRows = rowsOfList(rows, 'pages')
    this.#pages.times.push(...pageRows.flatMap(({ value }) => value).sort((a, b) => a - b))
    const lastRowNumber = pageRows.at(-1)?.numbers[0] ?? -1
    this.#pagesCounted = this.#pagesSaved = (lastRowNumber + 1) * PAGES_PER_ROW

    const skillRows = rowsOfList(rows, 'skills')
    const lastDay = skillRows.at(-1)?.numbers[0]
    if (lastDay === undefined) return
    this.#skills = new SeenSkills(lastDay)
    for (const row of skillRows) if (row.numbers[0] === lastDay) for (const id of row.value) this.#skills.add(id)
    this.#skillsSaved = this.#skills.count
    this.#skillsSavedDay = lastDay
  }

  #collectPages(rows: SavedCounterRow[]): void {
    const { times } = this.#pages
    const oldestPage = this.#pagesCounted - times.length
    const firstUnsavedPage = Math.max(oldestPage, this.#pagesSaved)
    if (firstUnsavedPage === this.#pagesCounted) return
    this.#pagesSaved = this.#pagesCounted
    for (let row = Math.floor(firstUnsavedPage / PAGES_PER_ROW); row * PAGES_PER_ROW < this.#pagesCounted; row++) {
      const value = times.slice(Math.max(0, row * PAGES_PER_ROW - oldestPage), (row + 1) * PAGES_PER_ROW - oldestPage)
      rows.push({ key: this.key, name: `pages:${row}`, value, expiresAt: value.at(-1)! + HOUR + clockSlackMs(HOUR) })
    }
  }

  #collectSkills(rows: SavedCounterRow[]): void {
    const seenSkills = this.#skills
    if (!seenSkills) return
    if (this.#skillsSavedDay !== seenSkills.day) {
      this.#skillsSavedDay = seenSkills.day
      this.#skillsSaved = 0
    }
    if (this.#skillsSaved === seenSkills.count) return
    const expiresAt = indianDayStart(seenSkills.day + 1) + DAY_SLACK_MS
    for (let row = Math.floor(this.#skillsSaved / SKILLS_PER_ROW); row * SKILLS_PER_ROW < seenSkills.count; row++) {
      const value = seenSkills.slice(row * SKILLS_PER_ROW, (row + 1) * SKILLS_PER_ROW)
      rows.push({ key: this.key, name: `skills:${seenSkills.day}:${row}`, value, expiresAt })
    }
    this.#skillsSaved = seenSkills.count
  }
}

/** Returns the rows of one list in numeric order: `skills:20345:9` before `skills:20345:10`. */
function rowsOfList(rows: readonly SavedCounterRow[], listName: string) {
  return rows
    .filter(({ name }) => name === listName || name.startsWith(`${listName}:`))
    .map(({ name, value }) => ({ value, numbers: name.split(':').slice(1).map(Number) }))
    .sort((x, y) => x.numbers[0]! - y.numbers[0]! || x.numbers[1]! - y.numbers[1]!)
}
