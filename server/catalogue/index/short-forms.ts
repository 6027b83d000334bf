/**
 * Short forms with what they stand for, and what advertisements say with what catalogues call it. A phrase that holds
 * the left side is also read with the right side in its place.
 */
const FORMS = `
ai | artificial intelligence
api | application programming interface
apis | application programming interface
aws | cloud
azure | cloud
b2b | business to business
b2c | business to consumer
backend | back end
bi | business intelligence
bms | building management system
bpo | business process outsourcing
cad | computer aided design
cctv | closed circuit television
ci | continuous integration
ci cd | continuous integration
cms | content management system
cnc | computer numerical control
cpr | cardiopulmonary resuscitation
crm | customer relationship management
css3 | css
cv | computer vision
db | database
dbs | database
ecommerce | e commerce
ehs | environment health safety
erp | enterprise resource planning
es6 | javascript
etl | extract transform load
excel | spreadsheets
frontend | front end
gcp | cloud
gdpr | data protection
git | version control
gis | geographic information systems
golang | go
gst | goods and services tax
hr | human resource
hse | health safety environment
html5 | html
hvac | heating ventilation air conditioning
iot | internet of things
jira | issue tracking
js | javascript
k8s | kubernetes
kanban | agile
kpi | key performance indicators
kpis | key performance indicators
lifecycle | life cycle
ml | machine learning
ms | microsoft
ms sql | sql server
mssql | sql server
nlp | natural language processing
nodejs | node js
oop | object oriented programming
os | operating systems
pc | computer
plc | programmable logic controller
pm | project management
pos | point of sale
postgres | postgresql
powerpoint | presentation software
ppc | pay per click
ppt | presentation software
qa | quality assurance
qc | quality control
r and d | research and development
rdbms | relational database
react js | react
reactjs | react
rest | web services
restful | web services
sdlc | software development life cycle
sem | search engine marketing
seo | search engine optimisation
sop | standard operating procedure
tdd | test driven development
ts | typescript
ui | user interface
unit testing | software testing
ux | user experience
vcs | version control
vuejs | vue
word | word processing
accountable | take responsibility
adaptable | adapt to change
ambitious | show determination
analytical | think analytically
attention to detail | attend to detail
budgeting | manage budgets
can do attitude | positive attitude
coaching | coach employees
cross functional | work in teams
curious | show curiosity
customer focus | customer service
customer oriented | customer service
deadlines | meet deadlines
decision making | make decisions
detail oriented | attend to detail
driving licence | drive vehicles
driving license | drive vehicles
eager to learn | willingness to learn
fast learner | learn quickly
flexible | adapt to change
innovative | think innovatively
leadership | lead others
line management | manage staff
mentoring | mentor individuals
multi tasking | perform multiple tasks
multitask | perform multiple tasks
multitasking | perform multiple tasks
negotiation skills | negotiate
open minded | show open mindedness
organisational skills | work in an organised manner
organised | work in an organised manner
organizational skills | work in an organised manner
organized | work in an organised manner
people | others
people management | manage staff
presentation skills | give presentations
proactive | think proactively
problem solving | solve problems
public speaking | speak in public
quick learner | learn quickly
reporting | write reports
responsible | take responsibility
result oriented | meet targets
results driven | meet targets
results oriented | meet targets
self driven | work independently
self motivated | show determination
self starter | show initiative
service minded | customer service
stakeholder management | manage relationships with stakeholders
structured | work in an organised manner
team player | work in teams
team spirit | work in teams
team work | work in teams
teamwork | work in teams
time management | manage time
training | train employees
under pressure | cope with stress
`

export const shortForms: ReadonlyMap<string, string> = new Map(
  FORMS.trim()
    .split('\n')
    .map((line) => line.split(' | ') as [string, string]),
)
