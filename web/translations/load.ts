import { LANGUAGES, type Language, setLanguage, type Texts } from './translate.ts'

const STORAGE_KEY = 'attestry console language'
/** Loads the texts of a language. English needs none: its texts are in the code. */
const LOADERS: Record<Exclude<Language, 'en'>, () => Promise<{ default: Texts }>> = {
  hi: () => import('./hi/index.ts'),
}

/** Loads the texts of the user's language. Modules that contain texts must be imported after this. */
export async function loadTexts(): Promise<void> {
  const language = preferredLanguage()
  if (language === 'en') return
  try {
    setLanguage(language, (await LOADERS[language]()).default)
    document.documentElement.lang = language
  } catch {
    // If the texts cannot be loaded, the page is shown in English.
  }
}

/** Returns the user's choice, or the first language of the browser that the console supports. */
function preferredLanguage(): Language {
  const names = [readChosenLanguage(), ...navigator.languages.map((name) => name.toLowerCase().split('-')[0])]
  return names.find((name): name is Language => name !== undefined && name in LANGUAGES) ?? 'en'
}

/** Returns the language that the user chose in this browser. */
export function readChosenLanguage(): Language | undefined {
  try {
    const choice = localStorage.getItem(STORAGE_KEY)
    return choice !== null && choice in LANGUAGES ? (choice as Language) : undefined
  } catch {
    return undefined
  }
}

/**
 * Stores the choice and reloads the page, because modules translate some of their texts when they are loaded. A browser that stores nothing
 * keeps its language.
 */
export function chooseLanguage(language: Language): void {
  try {
    localStorage.setItem(STORAGE_KEY, language)
  } catch {
    return
  }
  location.reload()
}
