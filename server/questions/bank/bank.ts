import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type BankItem, parseBank } from './format.ts'

const FOLDER = new URL('../../../data/questions/', import.meta.url)

/** A bank item with a stable ID that does not depend on its position. */
export interface KnownItem extends BankItem {
  id: string
}

/**
 * The bank in memory: the bytes of the files and the offset of each skill. A skill's items are parsed on first use, so that the bank
 * needs little more memory than its size on disk, and none before the first question.
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
      const headings: { skill: number; at: number }[] = []
      for (let at = file.indexOf('= sk_'); at >= 0; at = file.indexOf('\n= sk_', at + 1)) {
        const start = file[at] === NEW_LINE ? at + 1 : at
        if (start > 0 && file[start - 1] !== NEW_LINE) continue
        headings.push({ skill: Number.parseInt(file.toString('latin1', start + 5, start + 15), 10), at: start })
      }
      for (const [index, { skill, at }] of headings.entries())
        parts.set(skill, file.subarray(at, headings[index + 1]?.at ?? file.length))
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
