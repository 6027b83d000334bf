import { DrawingThread } from '../../platform/drawing/drawing-thread.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PublicCredential } from '../credentials.ts'
import { credentialState } from './credential-state.ts'

/** The look of the issuer: the name under which it presents itself and its colour on white, if it has one. */
interface DrawingLook {
  name: string
  colour: string | undefined
}

export interface DrawingOptions {
  url: string
  language: Language
  now: number
  look?: DrawingLook | undefined
}

export interface DrawingInput {
  format: 'pdf' | 'png'
  credential: PublicCredential
  options: DrawingOptions
}

/** A link that is posted in a group is fetched by many servers at about the same time. */
const MAX_CACHED_DRAWINGS = 50

/** Draws PDF files and pictures of credentials. */
export class Drawings {
  private readonly thread = new DrawingThread<DrawingInput>(new URL('drawing-worker.ts', import.meta.url))
  private readonly cache = new Map<string, Promise<Buffer>>()

  draw(format: DrawingInput['format'], credential: PublicCredential, options: DrawingOptions): Promise<Buffer> {
    const state = credentialState(credential, options.now)
    const { name, colour } = options.look ?? {}
    const key = JSON.stringify([format, credential.id, state, format === 'pdf' ? options.language : '', name, colour])
    let drawing = this.cache.get(key)
    if (!drawing) {
      drawing = this.thread.draw({ format, credential, options })
      this.cache.set(key, drawing)
      drawing.catch(() => this.cache.delete(key))
      if (this.cache.size > MAX_CACHED_DRAWINGS) this.cache.delete(this.cache.keys().next().value!)
    }
    return drawing
  }

  close(): Promise<void> {
    return this.thread.close()
  }
}
