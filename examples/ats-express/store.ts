import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Result } from '@attestry/sdk'

interface Candidate {
  id: string
  name: string
  phone: string
  /** The newest result of the candidate; absent until the first one arrives. */
  result?: Result
}

export interface Job {
  id: string
  title: string
  mandateId: string
  status: 'preparing' | 'ready' | 'failed'
  campaignId?: string
  candidates: Candidate[]
}

interface Data {
  webhook?: { id: string; secret: string; url: string }
  jobs: Job[]
}

/** The data of the application in one JSON file. A real application uses a database. */
export class Store {
  readonly #file: string
  readonly data: Data

  constructor(file: string) {
    this.#file = file
    this.data = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Data) : { jobs: [] }
  }

  /** Writes a new file and renames it, so that a crash leaves the old or the new data. The file contains the webhook secret. */
  save(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.data, null, 2), { mode: 0o600 })
    renameSync(`${this.#file}.new`, this.#file)
  }

  findJob(id: string | undefined): Job | undefined {
    return this.data.jobs.find((job) => job.id === id)
  }
}
