import '../ui/base.css'
import './profile.css'
import { submitLanguageChoice } from '../credentials/language-choice.ts'

submitLanguageChoice()
