import { currentLanguage, LANGUAGES, type Language, setLanguage, type Texts } from './translate.ts'

const CHOICE_KEY = 'attestry console language'
/** The language of the account that was last signed in, so that it is shown before the session is loaded. */
const ACCOUNT_KEY = 'attestry account language'
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

/** Returns the language that was chosen in this browser, or that of the account, or that of the browser. */
function preferredLanguage(): Language {
  return readChosenLanguage() ?? readLanguage(ACCOUNT_KEY) ?? browserLanguage()
}

/** Returns the first language of the browser that the console supports. */
export function browserLanguage(): Language {
  const names = navigator.languages.map((name) => name.toLowerCase().split('-')[0]!)
  return names.find((name): name is Language => name in LANGUAGES) ?? 'en'
}

/** Returns the language that the user chose in this browser. */
export function readChosenLanguage(): Language | undefined {
  return readLanguage(CHOICE_KEY)
}

function readLanguage(key: string): Language | undefined {
  try {
    const language = localStorage.getItem(key)
    return language !== null && language in LANGUAGES ? (language as Language) : undefined
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
    localStorage.setItem(CHOICE_KEY, language)
  } catch {
    return
  }
  location.reload()
}

/** Shows the console in the language of the account; undefined if it has none. A language that was chosen in this browser stays. */
export function showAccountLanguage(language: Language | undefined): void {
  if (readLanguage(ACCOUNT_KEY) === language) return // if its texts could not be loaded, they would not be loaded now either
  try {
    if (language) localStorage.setItem(ACCOUNT_KEY, language)
    else localStorage.removeItem(ACCOUNT_KEY)
  } catch {
    return
  }
  if (preferredLanguage() !== currentLanguage()) location.reload()
}
