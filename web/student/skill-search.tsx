import { useEffect, useRef, useState } from 'preact/hooks'
import { paths } from '../paths.ts'
import type { ChosenSkill, SessionCall } from './session.ts'
import type { Texts } from './texts.ts'

interface Props {
  call: SessionCall
  words: Texts
  chosen: ChosenSkill[]
  onChoose: (skill: { skillId: string; name: string }) => void
}

interface Found {
  skillId: string
  name: string
}

const PAUSE = 220
const SHORTEST = 2

/** What makes an input and its list one thing for a screen reader. The types allow the role only beside a datalist. */
function comboBox(expanded: boolean, at: number): object {
  return {
    role: 'combobox',
    'aria-expanded': expanded,
    'aria-controls': 'skill-options',
    'aria-autocomplete': 'list',
    'aria-activedescendant': at >= 0 ? `option-${at}` : undefined,
  }
}

/** Search as you type; the list is reached with the arrow keys and taken with Enter. */
export function SkillSearch({ call, words, chosen, onChoose }: Props) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<Found[]>()
  const [busy, setBusy] = useState(false)
  const [at, setAt] = useState(-1)
  const asked = useRef('')
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const query = text.trim()
    asked.current = query
    setAt(-1)
    if ([...query].length < SHORTEST) {
      setFound(undefined)
      setBusy(false)
      return
    }
    setBusy(true)
    const timer = setTimeout(async () => {
      const answer = await call<{ skills: Found[] }>(paths.searchSkills(query))
      if (asked.current !== query) return // a newer question is under way
      setBusy(false)
      setFound(answer.ok ? answer.data.skills : undefined)
    }, PAUSE)
    return () => clearTimeout(timer)
  }, [text])

  const taken = new Set(chosen.map(({ skillId }) => skillId))
  const options = (found ?? []).filter(({ skillId }) => !taken.has(skillId)).slice(0, 8)
  return (
    <div class="search">
      <label for="skill-search">{words.search}</label>
      <input
        id="skill-search"
        ref={input}
        type="search"
        autoComplete="off"
        placeholder={words.searchPlaceholder}
        {...comboBox(options.length > 0, at)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={move}
      />
      <p class="soft small" aria-live="polite">
        {busy ? words.searching : found && (options.length > 0 ? words.found(options.length) : words.nothingFound)}
      </p>
      <div id="skill-options" role="listbox" aria-label={words.search} class="options" hidden={options.length === 0}>
        {options.map((skill, index) => (
          // The input keeps the focus: the keyboard moves in the list through it.
          <div
            key={skill.skillId}
            id={`option-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class="option"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(skill)}
            onKeyDown={() => {}}
          >
            {skill.name}
          </div>
        ))}
      </div>
    </div>
  )

  function move(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, options.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, -1))
    else if (event.key === 'Escape') setText('')
    else if (event.key === 'Enter') {
      if (!text.trim()) return
      const skill = options[Math.max(at, 0)]
      if (skill) take(skill)
    } else return
    event.preventDefault()
  }

  function take(skill: Found) {
    onChoose({ skillId: skill.skillId, name: skill.name })
    setText('')
    input.current?.focus()
  }
}
