import { createApp } from 'vue'
import App from './App.vue'
import { router } from './router'
import { followExpiring } from './state/expiring'
import { followMemory } from './state/memory'
import { followConfig } from './state/settings'
import { followWatch } from './state/watch'
import './styles/tokens.css'
import './styles/base.css'
import './styles/drag.css'
import './styles/floats.css'
import './styles/prose.css'

createApp(App).use(router).mount('#app')
void followMemory()
void followWatch().catch(() => undefined)
void followExpiring()
void followConfig()
