//! The rooms of the window.

import { createRouter, createWebHashHistory } from 'vue-router'
import BrowserView from './views/BrowserView.vue'

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/', name: 'browser', component: BrowserView },
    { path: '/project/:projectId/session/:sessionId?', name: 'project-session', component: BrowserView },
    { path: '/project/:projectId', name: 'project', component: BrowserView },
    { path: '/session/:sessionId', name: 'session', component: BrowserView },
    { path: '/compositions/:name?', name: 'compositions', component: () => import('./views/CompositionsView.vue') },
    { path: '/search', name: 'search', component: () => import('./views/SearchView.vue') },
    { path: '/storage', name: 'storage', component: () => import('./views/StorageView.vue') },
    { path: '/storage/near-duplicates', name: 'near-duplicates', component: () => import('./views/NearDuplicatesView.vue') },
    { path: '/settings', name: 'settings', component: () => import('./views/SettingsView.vue') },
    { path: '/:rest(.*)*', redirect: '/' },
  ],
})
