import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type BankItem, parseBank } from './format.ts'

const FOLDER = new URL('../../../data/questions/', import.meta.url)

/** One item of the bank with the id that it keeps when others are put before it. */
export interface KnownItem extends BankItem {
  id: string
}

/**
 * The bank in memory: the files' bytes and where each skill's part lies. A part is parsed when somebody is asked about its
 * skill, so that the bank costs little more than its size on disk, and nothing before the first question.
 */
export class Bank {
  private readonly parts: Map<number, Buffer>

  private constructor(parts: Map<number, Buffer>) {
    this.parts = parts
  }

  static async read(): Promise<Bank> {
    const names = (await readdir(FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name)).sort()
    const files = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER))))
    const parts = new Map<number, Buffer>()
    for (const file of files) {
      const heads: { skill: number; at: number }[] = []
      for (let at = file.indexOf('= sk_'); at >= 0; at = file.indexOf('\n= sk_', at + 1)) {
        const start = file[at] === NEW_LINE ? at + 1 : at
        if (start > 0 && file[start - 1] !== NEW_LINE) continue
        heads.push({ skill: Number.parseInt(file.toString('latin1', start + 5, start + 15), 10), at: start })
      }
      for (const [index, { skill, at }] of heads.entries())
        parts.set(skill, file.subarray(at, heads[index + 1]?.at ?? file.length))
    }
    return new Bank(parts)
  }

  get skills(): number[] {
    return [...this.parts.keys()]
  }

  itemsOf(skill: number): KnownItem[] {
    const part = this.parts.get(skill)
    if (!part) return []
    const items = parseBank(part.toString('utf8')).skills[0]?.items ?? []
    return items
      .filter(({ wordings }) => wordings.has('en'))
      .map((item) => ({ ...item, id: `${skill}-${digest(item.wordings.get('en')!.stem)}` }))
  }
}

const NEW_LINE = 0x0a

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 10)
