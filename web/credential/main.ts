import '../ui/base.css'
import './credential.css'
import { type ApiCallOptions, call } from '../api.ts'
import { submitLanguageChoice } from '../credentials/language-choice.ts'
import { type StepResult, type Verdict, verifyCredential } from '../credentials/verify.ts'
import { paths } from '../paths.ts'

const element = document.getElementById('credential')
submitLanguageChoice()
if (element) void enhance(JSON.parse(element.textContent!))

interface PageData {
  id: string
  jwt: string
  texts: Record<string, string>
}

/** Adds the check, the holder form and the copy button to the page, which the server has rendered completely. */
async function enhance({ id, jwt, texts }: PageData) {
  enableCopyButton(texts.copied!)
  enableHolderForm(id, texts)
  const check = document.getElementById('check')!
  const verdictLine = check.querySelector<HTMLElement>('.verdict')!
  check.querySelector<HTMLElement>('.steps')!.hidden = false
  showVerdict('running')
  const verdict = await verifyCredential({ jwt, pageUrl: new URL(location.href), matchesPage, onStep: showStep })
  showVerdict(verdict)

  function showVerdict(state: Verdict | 'running') {
    verdictLine.hidden = false
    verdictLine.className = `verdict ${state}`
    verdictLine.textContent = texts[`check_${state}`]!
  }

  function showStep({ step, state, text, values = {} }: StepResult) {
    const item = check.querySelector(`[data-step="${step}"]`)!
    item.className = state
    item.querySelector('span')!.textContent = texts[text]!.replace(/\{(\w+)\}/g, (_, slot) => values[slot] ?? '')
  }
}

/** Compares each element that shows signed content with the signed JSON. */
function matchesPage(payload: Record<string, unknown>): boolean {
  const shownId = location.pathname.split('/').pop()
  if (new URL(String(payload.id)).pathname.split('/').pop() !== shownId) return false
  return [...document.querySelectorAll<HTMLElement>('[data-signed]')].every((shown) => {
    const signed = valueAt(payload, shown.dataset.signed!)
    if (shown instanceof HTMLTimeElement) return Date.parse(shown.dateTime) === Date.parse(String(signed))
    return shown.textContent === String(signed)
  })
}

/** Returns the value at a JSON Pointer. */
function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((parent, key) => (parent as Record<string, unknown> | undefined)?.[key], value)
}

function enableCopyButton(copiedText: string) {
  const button = document.getElementById('copy')
  if (!button || !navigator.clipboard) return
  button.hidden = false
  button.onclick = async () => {
    await navigator.clipboard.writeText(location.origin + location.pathname)
    button.textContent = copiedText
  }
}

/** Adds the country code of India to a mobile number without one: people give their number as they dial it. */
function toInternational(phone: string): string {
  const digits = phone.replace(/[\s()-]/g, '')
  return /^0?[6-9]\d{9}$/.test(digits) ? `+91${digits.slice(-10)}` : digits
}

function enableHolderForm(id: string, texts: Record<string, string>) {
  const section = document.getElementById('holder')!
  const form = section.querySelector('form')!
  const output = form.querySelector<HTMLElement>('[role=status]')!
  section.hidden = false
  form.onsubmit = async (event) => {
    event.preventDefault()
    const address = form.querySelector('input')!.value.trim()
    const options: ApiCallOptions = {
      body: address.includes('@') ? { email: address } : { phone: toInternational(address) },
    }
    output.textContent = ''
    const result = await call<{ matches: boolean }>(paths.credentialHolder(id), options)
    output.className = result.ok && result.data.matches ? 'good-text' : 'bad-text'
    output.textContent = result.ok
      ? texts[result.data.matches ? 'holder_yes' : 'holder_no']!
      : result.status === 429
        ? texts.rate_limited!
        : result.message || texts.failed!
  }
}
