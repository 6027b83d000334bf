/** Speech recognition of the browser, if available. It is optional: phone keyboards offer dictation too. */

interface Recognition {
  lang: string
  interimResults: boolean
  onresult: (event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void
  onend: () => void
  start(): void
  stop(): void
}

type Recogniser = new () => Recognition

const { SpeechRecognition, webkitSpeechRecognition } = window as unknown as Record<string, Recogniser | undefined>
const Recogniser = SpeechRecognition ?? webkitSpeechRecognition

export const canDictate = Recogniser !== undefined

/** Transcribes speech until the speaker pauses. Returns a function that stops it earlier. */
export function dictate(language: string, onText: (text: string) => void, onEnd: () => void): () => void {
  const recognition = new Recogniser!()
  recognition.lang = `${language}-IN`
  recognition.interimResults = true
  recognition.onresult = ({ results }) =>
    onText(
      Array.from(results)
        .map((result) => result[0]!.transcript)
        .join(' '),
    )
  recognition.onend = onEnd
  try {
    recognition.start()
  } catch {
    onEnd()
  }
  return () => recognition.stop()
}
