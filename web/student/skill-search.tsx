import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionSkill, SkillSuggestion, SkillSuggestions } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import type { SessionCall } from './session.ts'
import type { StudentTexts } from './texts.ts'

interface Props {
  call: SessionCall
  pageTexts: StudentTexts
  chosen: SessionSkill[]
  onChoose: (skill: { skillId: string; name: string }) => void
}

const DEBOUNCE_MS = 220
const MIN_QUERY_LENGTH = 2

/** ARIA attributes of the combobox pattern, which Preact's input types do not allow directly. */
function comboBoxAttributes(expanded: boolean, highlightedIndex: number): object {
  return {
    role: 'combobox',
    'aria-expanded': expanded,
    'aria-controls': 'skill-options',
    'aria-autocomplete': 'list',
    'aria-activedescendant': highlightedIndex >= 0 ? `option-${highlightedIndex}` : undefined,
  }
}

/** Search-as-you-type combobox: arrow keys move through the list, Enter selects. */
export function SkillSearch({ call, pageTexts, chosen, onChoose }: Props) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<SkillSuggestion[]>()
  const [busy, setBusy] = useState(false)
  const [highlightedIndex, setHighlightedIndex] = useState(-1)
  const latestQuery = useRef('')
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const query = text.trim()
    latestQuery.current = query
    setHighlightedIndex(-1)
    if ([...query].length < MIN_QUERY_LENGTH) {
      setFound(undefined)
      setBusy(false)
      return
    }
    setBusy(true)
    const timer = setTimeout(async () => {
      const result = await call<SkillSuggestions>(paths.searchSkills(query))
      if (latestQuery.current !== query) return // a newer search is running
      setBusy(false)
      setFound(result.ok ? result.data.skills : undefined)
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])

  const chosenIds = new Set(chosen.map(({ skillId }) => skillId))
  const options = (found ?? []).filter(({ skillId }) => !chosenIds.has(skillId)).slice(0, 8)
  return (
    <div class="search">
      <label for="skill-search">{pageTexts.search}</label>
      <input
        id="skill-search"
        ref={input}
        type="search"
        autoComplete="off"
        placeholder={pageTexts.searchPlaceholder}
        {...comboBoxAttributes(options.length > 0, highlightedIndex)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <p class="soft small" aria-live="polite">
        {busy
          ? pageTexts.searching
          : found && (options.length > 0 ? pageTexts.skillsFound(options.length) : pageTexts.nothingFound)}
      </p>
      <div
        id="skill-options"
        role="listbox"
        aria-label={pageTexts.search}
        class="options"
        hidden={options.length === 0}
      >
        {options.map((skill, index) => (
          // The input keeps the focus; aria-activedescendant marks the current option.
          <div
            key={skill.skillId}
            id={`option-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === highlightedIndex}
            class="option"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(skill)}
            onKeyDown={() => {}}
          >
            {skill.name}
          </div>
        ))}
      </div>
    </div>
  )

  function handleKey(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setHighlightedIndex(Math.min(highlightedIndex + 1, options.length - 1))
    else if (event.key === 'ArrowUp') setHighlightedIndex(Math.max(highlightedIndex - 1, -1))
    else if (event.key === 'Escape') setText('')
    else if (event.key === 'Enter') {
      if (!text.trim()) return
      const skill = options[Math.max(highlightedIndex, 0)]
      if (skill) choose(skill)
    } else return
    event.preventDefault()
  }

  function choose(skill: SkillSuggestion) {
    onChoose({ skillId: skill.skillId, name: skill.name })
    setText('')
    input.current?.focus()
  }
}
