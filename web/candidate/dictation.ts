/** The browser's own speech recognition, where it has one. Nothing depends on it: every phone's keyboard can take dictation too. */

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

/** Writes down what is said until there is silence; answers how to end it sooner. */
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
