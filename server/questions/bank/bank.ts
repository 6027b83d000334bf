import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type BankItem, parseBank } from './format.ts'

const BANK_FOLDER = new URL('../../../data/questions/', import.meta.url)

/** A bank item with a stable ID that does not depend on its position. */
export interface BankItemWithId extends BankItem {
  id: string
}

/**
 * The bank in memory: the bytes of the files and the offset of each skill. A skill's items are parsed on first use, so that the bank
 * needs little more memory than its size on disk, and none before the first question.
 */
export class Bank {
  /** The part of the file that contains each skill, by skill number. */
  private readonly skillParts: Map<number, Buffer>

  private constructor(skillParts: Map<number, Buffer>) {
    this.skillParts = skillParts
  }

  static async read(): Promise<Bank> {
    const fileNames = (await readdir(BANK_FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name)).sort()
    const files = await Promise.all(fileNames.map((name) => readFile(new URL(name, BANK_FOLDER))))
    const skillParts = new Map<number, Buffer>()
    for (const file of files) {
      const headings: { skillNumber: number; offset: number }[] = []
      for (let offset = file.indexOf('= sk_'); offset >= 0; offset = file.indexOf('\n= sk_', offset + 1)) {
        const start = file[offset] === NEW_LINE ? offset + 1 : offset
        if (start > 0 && file[start - 1] !== NEW_LINE) continue
        const skillNumber = Number.parseInt(file.toString('latin1', start + 5, start + 15), 10)
        headings.push({ skillNumber, offset: start })
      }
      for (const [index, { skillNumber, offset }] of headings.entries())
        skillParts.set(skillNumber, file.subarray(offset, headings[index + 1]?.offset ?? file.length))
    }
    return new Bank(skillParts)
  }

  get skillNumbers(): number[] {
    return [...this.skillParts.keys()]
  }

  itemsOf(skillNumber: number): BankItemWithId[] {
    const skillPart = this.skillParts.get(skillNumber)
    if (!skillPart) return []
    const items = parseBank(skillPart.toString('utf8')).skills[0]?.items ?? []
    return items
      .filter(({ wordings }) => wordings.has('en'))
      .map((item) => ({ ...item, id: `${skillNumber}-${digest(item.wordings.get('en')!.stem)}` }))
  }
}

const NEW_LINE = 0x0a

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 10)
