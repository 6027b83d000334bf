import { render } from 'preact'
import '../ui/base.css'
import '../credential/credential.css'
import { submitLanguageChoice } from '../credentials/language-choice.ts'
import { readPageTexts } from '../credentials/page-texts.ts'
import { CheckPage } from './page.tsx'

submitLanguageChoice()
render(<CheckPage texts={readPageTexts()} />, document.getElementById('root')!)
